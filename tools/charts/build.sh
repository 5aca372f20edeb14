#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds lib/Lab/Results/Page/echarts.js and its licence from the npm packages of package-lock.json. With --check,
# compares them with the committed files instead. Nothing else in the project needs npm, because the output is
# committed. To update: npm install echarts@latest, then run this script.
set -euo pipefail
cd "$(dirname "$0")"
page=../../lib/Lab/Results/Page
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm ci --silent
bundle=$work/echarts.js licence=$work/echarts.LICENSE
version() { node -p "require('./node_modules/$1/package.json').version"; }
{
  echo "/* Apache ECharts $(version echarts) with zrender $(version zrender) and tslib $(version tslib), in part: tools/charts/entry.js. Licences: echarts.LICENSE */"
  node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --global-name=echarts --target=es2018 \
    --legal-comments=none --log-level=warning
} >"$bundle"
for package in echarts zrender tslib; do
  echo "== $package $(version $package)"
  [ ! -f node_modules/$package/NOTICE ] || cat node_modules/$package/NOTICE
  find node_modules/$package -maxdepth 2 -type f -ipath '*license*' -exec cat {} +
  echo
done >"$licence"

if grep -qi '</script' "$bundle"; then
  echo "build.sh: the bundle has </script, which would end the script of a page" >&2
  exit 1
fi
if [ "${1:-}" = --check ]; then
  cmp "$bundle" $page/echarts.js
  cmp "$licence" $page/echarts.LICENSE
  echo "lib/Lab/Results/Page/echarts.js is what package-lock.json makes"
else
  cp "$bundle" "$licence" $page/
fi
