import CurlLoop
import EventLoop
import HTTPClient
import Phone
import SimBase

// Phones that start and stop while the fleet runs: those of a worker.

extension Fleet {
    func open(_ phones: [FleetPlan.PhonePlan]) {
        guard case .running = self.phase else { return }
        let now = self.loop.now()
        for phone in phones {
            let place = self.freePlaces.popLast() ?? self.phones.count
            // Beyond it the pool is full.
            guard place < self.plan.phonesMax ?? 0 else {
                return self.fail(.other("more phones were opened than the fleet has places for"))
            }
            self.opened[phone.number] = place
            if place < self.plan.phones.count {
                self.plan.phones[place] = phone
            } else {
                self.plan.phones.append(phone)
            }
            self.launch(place, .nothing, at: now)
        }
        self.flushStore()
        self.followSchedule()
    }

    func close(_ devices: [DeviceNumber]) {
        let now = self.loop.now()
        for device in devices {
            guard let phone = self.index(of: device), !self.phones[phone].isClosing else { continue }
            self.phones[phone].isClosing = true
            self.closing.append(Closing(phone: phone, drained: now + self.plan.drain))
        }
        self.checkClosings()
    }

    func checkClosings() {
        guard !self.isEnding else { return }
        let now = self.loop.now()
        var closed: [FleetClosing] = []
        var left: [Closing] = []
        for var closing in self.closing {
            let phone = closing.phone
            if closing.ended == nil, !self.phones[phone].machine.isBusy || closing.drained <= now {
                closing.ended = now + PhoneLimits.shutdownTime
                self.send(.runEnded, to: phone)
            }
            guard let ended = closing.ended, self.phones[phone].machine.isQuiescent || ended <= now else {
                left.append(closing)
                continue
            }
            self.pool.hangUp(phone: phone, by: .fin)
            let device = self.phones[phone].number
            self.opened[device] = nil
            // What is scheduled for it does not happen any more.
            self.phones[phone].opening += 1
            self.wakes?.set(key: phone, at: nil)
            self.freePlaces.append(phone)
            closed.append(FleetClosing(device: device, lastScan: self.phones[phone].machine.lastScan))
        }
        self.closing = left
        if !left.isEmpty { self.closings?.arm(after: FleetLimits.closingInterval) }
        guard !closed.isEmpty else { return }
        // What it saw comes before the word that it has closed.
        self.report()
        self.post(.closed(closed))
    }
}
