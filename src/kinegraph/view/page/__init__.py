"""A solution as one self-contained HTML page."""

from kinegraph.view.page.write import page as page
from kinegraph.view.page.write import page_path as page_path
