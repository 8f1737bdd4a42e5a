import driver
import requests
import sseclient


def follow(url, headers, saw):
    response = requests.get(url, stream=True, headers=dict(headers, Accept="text/event-stream"), timeout=30)
    response.raise_for_status()
    for event in sseclient.SSEClient(response).events():
        driver.event(event.event, event.data, event.id)
        saw(event.id)


driver.by_its_user(follow)
