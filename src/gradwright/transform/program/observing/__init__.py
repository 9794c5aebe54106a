"""The parts of `gradwright.transform.program.observe`: what code reads, what it calls, and the values it works on."""
