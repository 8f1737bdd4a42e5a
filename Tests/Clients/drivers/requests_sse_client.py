import driver
from requests_sse import EventSource


def follow(url, headers):
    with EventSource(url, headers=headers, timeout=30) as source:
        for event in source:
            driver.event(event.type, event.data, event.last_event_id)


driver.by_itself(follow)
