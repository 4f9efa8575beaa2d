// Values that threads share without a lock. Only this module imports Synchronization.
@_exported import struct Synchronization.Atomic
