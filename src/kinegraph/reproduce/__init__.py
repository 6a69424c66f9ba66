"""The source documents, table by table: printed numbers beside those that Kinegraph computes."""
