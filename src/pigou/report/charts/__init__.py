"""One function per chart; each returns a plotly figure."""
