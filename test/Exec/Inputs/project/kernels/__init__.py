from .activations import relu, SCALE
