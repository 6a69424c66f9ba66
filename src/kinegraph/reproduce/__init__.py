"""The source documents, table by table: what they print beside what Kinegraph computes."""
