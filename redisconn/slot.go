package redisconn

import "strings"

// slots is how many slots a cluster has.
const slots = 1 << 14

// Slot returns the cluster's slot of a key: CRC16 (XMODEM) of its hash tag.
func Slot(key string) int {
	var crc uint16
	for _, b := range []byte(Tag(key)) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slots
}

// SameSlot reports whether two keys are in one slot, which keys with the same hash tag are.
func SameSlot(a, b string) bool { return Tag(a) == Tag(b) || Slot(a) == Slot(b) }

// Tag returns the part of a key that decides its slot.
func Tag(key string) string {
	_, after, found := strings.Cut(key, "{")
	if !found {
		return key
	}
	inside, _, found := strings.Cut(after, "}")
	if !found || inside == "" {
		return key
	}
	return inside
}
