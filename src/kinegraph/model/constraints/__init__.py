"""What ties bodies beyond their records: loops, constraints, contacts, unknown forces; and the graph of the joints."""
