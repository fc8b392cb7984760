"""Pictures of a graph without a notebook: layout, SVG, one-file HTML, and exports for other tools."""
