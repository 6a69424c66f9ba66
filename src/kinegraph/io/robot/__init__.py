"""What the readers of robot files share."""
