"""Things to look at: plots and pages of solutions."""

from kinegraph.view.page import model_page as model_page
from kinegraph.view.page import page as page
from kinegraph.view.plot import plot as plot
