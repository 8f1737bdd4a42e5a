import driver
from ld_eventsource import SSEClient
from ld_eventsource.config import ConnectStrategy, ErrorStrategy


def follow(url, headers):
    # The default strategy ends with the first failure.
    connect = ConnectStrategy.http(url, headers=headers)
    with SSEClient(connect, error_strategy=ErrorStrategy.always_continue()) as client:
        for event in client.events:
            driver.event(event.event, event.data, event.last_event_id)


driver.by_itself(follow)
