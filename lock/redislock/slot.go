package redislock

// slots is how many slots a cluster has.
const slots = 1 << 14

// Slot returns the cluster's slot of a key: CRC16 (XMODEM) of its hash tag.
func Slot(key string) int {
	var crc uint16
	for _, b := range []byte(tag(key)) {
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
