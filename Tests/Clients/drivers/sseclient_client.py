import driver
from sseclient import SSEClient


def follow(url, headers):
    for event in SSEClient(url, headers=headers):
        driver.event(event.event, event.data, event.id)


driver.by_itself(follow)
