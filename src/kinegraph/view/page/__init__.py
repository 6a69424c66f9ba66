"""Solutions and mechanisms as self-contained HTML pages."""

from kinegraph.view.page.pose import model_page as model_page
from kinegraph.view.page.template import page_path as page_path
from kinegraph.view.page.write import page as page
