"""The parts of `gradwright.compilation.watch.observe`: what code reads, what it calls, and the values it works on."""
