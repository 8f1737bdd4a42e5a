// LiveDevicesTests: tests go in files named for one behaviour.
