import driver
import httpx
from httpx_sse import connect_sse


def follow(url, headers, saw):
    with httpx.Client(timeout=30) as client, connect_sse(client, "GET", url, headers=headers) as source:
        source.response.raise_for_status()
        for event in source.iter_sse():
            driver.event(event.event, event.data, event.id)
            saw(event.id)


driver.by_its_user(follow)
