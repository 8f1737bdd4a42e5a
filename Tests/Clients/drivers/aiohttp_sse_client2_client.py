import driver
from aiohttp_sse_client2 import client


async def follow(url, headers):
    async with client.EventSource(url, headers=headers) as source:
        async for event in source:
            driver.event(event.type, event.data, event.last_event_id)


driver.by_itself(follow)
