#include "Simulator/Ptx/Module.h"
