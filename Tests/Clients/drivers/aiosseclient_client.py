import driver
from aiosseclient import aiosseclient


async def follow(url, headers, saw):
    last = headers.pop("Last-Event-ID", None)
    async for event in aiosseclient(url, last_id=last, headers=headers, raise_for_status=True):
        driver.event(event.event, event.data, event.id)
        saw(event.id)


driver.by_its_user(follow)
