"""Parameters that the forces can tell apart: regressor and regrouping."""
