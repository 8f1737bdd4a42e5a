import json

import driver
from pysse import Client


async def follow(url, headers, _):
    # It reads data as JSON, and has no ids.
    def receive(event):
        driver.event(event.name, json.dumps(event.data))

    await Client(url, receive, headers=dict(headers, Accept="text/event-stream")).connect()


driver.by_its_user(follow)
