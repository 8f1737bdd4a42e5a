"""The clients and the dialects."""

import collections

Client = collections.namedtuple("Client", "name package driver reopens has_headers has_ids")


def of_python(package, driver, reopens=False, has_headers=True, has_ids=True):
    """`reopens`: it opens a stream that was lost again by itself."""
    name = package.partition("==")[0]
    return Client(name, package, driver, reopens, has_headers, has_ids)


CLIENTS = [
    of_python("aiohttp-sse-client2==0.3.0", "aiohttp_sse_client2_client", reopens=True),
    of_python("aiosseclient==0.1.8", "aiosseclient_client"),
    of_python("httpx-sse==0.4.3", "httpx_sse_client"),
    of_python("larzsse==0.1.0", "larzsse_client", has_headers=False),
    of_python("launchdarkly-eventsource==1.7.4", "launchdarkly_eventsource_client", reopens=True),
    of_python("py-sse-client==1.0.1", "py_sse_client_client", has_ids=False),
    of_python("requests-sse==0.5.3", "requests_sse_client", reopens=True),
    of_python("sseclient==0.0.27", "sseclient_client", reopens=True),
    of_python("sseclient-py==1.9.0", "sseclient_py_client"),
    Client("curl", None, "curl_client", False, True, True),
    Client("Chromium", None, "chromium_client", True, False, True),
]

DIALECTS = ["contract", "live-2026-02", "bendv3", "legacy-openapi", "wingtip"]
