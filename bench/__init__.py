"""Speed of `evonb.graph` as ratios to the bare work: `python -m bench`."""
