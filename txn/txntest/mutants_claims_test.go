package txntest

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// asIs leaves a claim alone.
func asIs(*driver.Claim) {}

// asItIs leaves an answer alone.
func asItIs(*broken, *driver.Claimed) {}

func brokenClaims() map[string]func(*broken) {
	unparked := written(func(rec record) { rec.Parked = "" })
	return map[string]func(*broken){
		"DueRecordIsOverlooked": asked(asIs, func(_ *broken, c *driver.Claimed) {
			c.Records = slices.DeleteFunc(c.Records, func(rec record) bool { return rec.Status == driver.Open })
		}),
		"ClaimedRecordIsIncomplete": asked(asIs, func(_ *broken, c *driver.Claimed) {
			for _, rec := range c.Records {
				rec.State = nil
			}
		}),
		"ClaimIgnoresDueOrder":          asked(asIs, func(_ *broken, c *driver.Claimed) { slices.Reverse(c.Records) }),
		"ClaimExceedsItsLimit":          asked(func(c *driver.Claim) { c.Limit++ }, asItIs),
		"UndueRecordIsClaimed":          created(func(rec record) { rec.Due = dawn() }),
		"RecordWithoutDueTimeIsClaimed": created(func(rec record) { rec.Due = dawn() }),
		"ParkedRecordIsClaimed":         unparked,
		"TargetWakesTheWrongStatus":     unparked,
		"FinalRecordIsClaimed": written(func(rec record) {
			if rec.Status == driver.InDoubt {
				rec.Status = driver.Running
			}
		}),
		"OvertakenOwnerWrites": asked(asIs, func(b *broken, c *driver.Claimed) {
			for _, rec := range c.Records {
				was := rec.Version()
				rec.Epoch--
				_ = b.Store.Update(context.Background(), was, rec)
			}
		}),
		"LeaseIsIgnored":   asked(func(c *driver.Claim) { c.Lease = -time.Hour }, asItIs),
		"LeaseNeverEnds":   asked(func(c *driver.Claim) { c.Lease = 24 * time.Hour }, asItIs),
		"RenewedLeaseEnds": updated(func(_ *driver.Version, rec, stored record) { rec.Due = stored.Due }),
		"TargetWakesOthers": asked(func(c *driver.Claim) {
			if c.Target == "pay" {
				c.Target = ""
			}
		}, asItIs),
		"TargetTakesFromTheOwner": asked(asIs, func(b *broken, c *driver.Claimed) {
			for _, rec := range c.Records {
				rec.Waits = "pay"
				_ = b.Store.Update(context.Background(), rec.Version(), rec)
			}
		}),
		"ClockIsWrong": func(b *broken) {
			b.now = func(ctx context.Context) (time.Time, error) {
				now, err := b.Store.Now(ctx)
				return now.Add(time.Hour), err
			}
		},
		"ClockIsNotTheClaims": asked(asIs, func(_ *broken, c *driver.Claimed) { c.Now = c.Now.Add(time.Hour) }),
		"ClockStandsStill": func(b *broken) {
			start := time.Now()
			asked(asIs, func(_ *broken, c *driver.Claimed) { c.Now = start })(b)
		},
	}
}

func brokenSharing() map[string]func(*broken) {
	generous := func(b *broken) {
		var last atomic.Pointer[driver.Claimed]
		b.claim = func(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
			if again := last.Swap(nil); again != nil {
				return *again, nil
			}
			claimed, err := b.Store.Claim(ctx, c)
			last.Store(&claimed)
			return claimed, err
		}
	}
	return map[string]func(*broken){
		"RecordIsClaimedTwice":        generous,
		"WaitingRecordIsClaimedTwice": generous,
		"ShardIsForgotten": asked(func(c *driver.Claim) {
			if c.To > 0 {
				c.To--
			}
		}, asItIs),
		"ShardsOverlap": asked(func(c *driver.Claim) {
			if c.To > 0 && c.To < driver.Shards {
				c.To++
			}
		}, asItIs),
		"CrowdedShardIsHeldBack": asked(asIs, func(_ *broken, c *driver.Claimed) {
			if len(c.Records) > 10 {
				c.Records = slices.Delete(c.Records, 10, 11)
			}
		}),
		"TargetIgnoresShards": asked(func(c *driver.Claim) {
			if c.Target != "" {
				c.From, c.To = 0, 0
			}
		}, asItIs),
		"WorkIsLostUnderLoad": func(b *broken) {
			b.update = func(ctx context.Context, was driver.Version, rec record) error {
				if rec.ID == "w0-7" {
					return nil
				}
				return b.Store.Update(ctx, was, rec)
			}
		},
	}
}
