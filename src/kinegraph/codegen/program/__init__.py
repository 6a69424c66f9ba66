"""From a graph to single assignments in the order they are computed: what every language prints."""
