import driver
import larzsse


def follow(url, headers, saw):
    # `connect` takes no headers: no token, no device id, no `Last-Event-ID`.
    for event in larzsse.connect(url):
        driver.event(event.event, event.data, event.id)
        saw(event.id)


driver.by_its_user(follow)
