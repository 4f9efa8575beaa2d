// Values that threads share without a lock. Handed on from here, so that no other module imports Synchronization.
@_exported import struct Synchronization.Atomic
