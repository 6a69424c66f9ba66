"""The canonical form of nodes: exact numbers, sums of products, numbering."""
