// Exports the parts of ECharts that the charts of tile-run plot use; the bundle omits the rest.
import * as core from 'echarts/core';
import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { AriaComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';

core.use([
  BarChart, LineChart, ScatterChart, AriaComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent,
  SVGRenderer,
]);

export const init = core.init;
export const version = core.version;
