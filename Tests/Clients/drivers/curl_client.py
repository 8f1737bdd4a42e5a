import subprocess

import driver
import stream


def tell(events, saw):
    for event in events:
        driver.event(event.name, event.data, event.id)
        saw(event.id)


def follow(url, headers, saw):
    lines = [word for header in headers.items() for word in ("-H", "%s: %s" % header)]
    curl = subprocess.Popen(["curl", "-sSfN", "-H", "Accept: text/event-stream", *lines, url], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    # curl hands the bytes on. Its user reads them as the standard says.
    reader = stream.Reader()
    while piece := curl.stdout.read1():
        tell(reader.read(piece), saw)
    tell(reader.end(), saw)
    if curl.wait():
        raise OSError(curl.stderr.read().decode())


driver.by_its_user(follow)
