"""Statistics of cases: intervals of confidence, summaries, sensitivity, when there are enough."""
