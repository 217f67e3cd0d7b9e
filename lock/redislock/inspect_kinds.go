package redislock

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// readReadWrite reads what inspect.lua says of a read-write lock.
func readReadWrite(info *driver.Info, answer redisconn.Reply) {
	for i := 3; i+3 < answer.Len(); i += 4 {
		h := driver.Holder{Owner: answer.At(i).Str, Mode: driver.Shared, TTL: timeLeft(answer.At(i + 2).Int)}
		switch answer.At(i + 1).Str {
		case "write":
			h.Mode = driver.Write
		case "upgradeable":
			h.Upgradeable = true
		}
		h.Since, h.Meta = readRecord(answer.At(i + 3).Str)
		info.Holders = append(info.Holders, h)
	}
}

// readRecord reads what is known of a holder: when it was granted the lock, and its metadata.
func readRecord(text string) (since time.Time, meta string) {
	first, rest, _ := strings.Cut(text, " ")
	_, meta, _ = strings.Cut(rest, " ")
	token, _ := strconv.ParseUint(first, 10, 64)
	return grantedAt(token), meta
}

// readSemaphore reads what inspect.lua says of a semaphore. Whose IDs Bedrock did not make has each permit by
// itself.
func readSemaphore(info *driver.Info, answer redisconn.Reply) {
	info.Limit = int(answer.At(3).Int)
	known, taken, now := permitOwners(answer.At(5)), answer.At(4), answer.At(6).Int
	places := make(map[string]int)
	for i := 0; i+2 < taken.Len(); i += 3 {
		id, ends, permits := taken.At(i).Str, permitEnd(taken.At(i+1).Str), int(taken.At(i+2).Int)
		info.Limit += permits
		h := driver.Holder{Owner: hex.EncodeToString([]byte(id)), Mode: driver.Permit, TTL: permitLeft(ends, now)}
		key := id
		if own, ok := known[id[:min(len(id), idPrefix)]]; ok {
			key = own.Owner
			h.Owner, h.Since, h.Meta = own.Owner, own.Since, own.Meta
		}
		at, seen := places[key]
		if !seen {
			at = len(info.Holders)
			places[key], info.Holders = at, append(info.Holders, h)
		}
		info.Holders[at].Permits += permits
	}
	addOthers(info, int(answer.At(8).Int), answer.At(7).Str)
	slices.SortFunc(info.Holders, func(x, y driver.Holder) int { return x.Since.Compare(y.Since) })
}

// addOthers adds, as one holder without a name, who has those permits besides, and what others have of an RSemaphore
// with that limit: nobody knows who they are, nor whether there were ever so many. Other semaphores have no such limit.
func addOthers(info *driver.Info, besides int, limit string) {
	info.Limit += besides
	if all, err := strconv.Atoi(limit); err == nil && all > info.Limit {
		besides += all - info.Limit
		info.Limit = all
	}
	if besides > 0 {
		info.Holders = append(info.Holders, driver.Holder{Mode: driver.Permit, Permits: besides, TTL: -1})
	}
}

// permitOwners returns who is known to have permits, by how their IDs begin.
func permitOwners(records redisconn.Reply) map[string]driver.Holder {
	known := make(map[string]driver.Holder)
	for i := 0; i+1 < records.Len(); i += 2 {
		since, rest := readRecord(records.At(i + 1).Str)
		ids, meta, _ := strings.Cut(rest, " ")
		if prefix, err := hex.DecodeString(ids); err == nil {
			known[string(prefix)] = driver.Holder{Owner: records.At(i).Str, Since: since, Meta: meta}
		}
	}
	return known
}

// permitEnd reads when a permit comes back, in ms since 1970.
func permitEnd(score string) int64 {
	at, _ := strconv.ParseFloat(score, 64)
	return int64(at)
}

// never is the end of permits that do not come back by themselves, as Redisson has it.
const never = 900_000_000_000_000

func permitLeft(ends, now int64) time.Duration {
	if ends >= never {
		return -1
	}
	return time.Duration(ends-now) * time.Millisecond
}
