"""The command line of the referee."""
