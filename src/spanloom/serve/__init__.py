"""Models behind a web page and an HTTP API; it needs the extra ``serve``. No state is kept between requests."""

from spanloom.extras import extra

with extra("serve", "spanloom serve"):
    from spanloom.serve.guard import is_loopback
    from spanloom.serve.server import bind, serve, url

from spanloom.serve.limits import Limits
from spanloom.serve.served import Served, open_models

__all__ = ["Limits", "Served", "bind", "is_loopback", "open_models", "serve", "url"]
