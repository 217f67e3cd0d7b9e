package coordprom

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// countTimeout is less than a scrape may usually take.
const countTimeout = 5 * time.Second

// backlog shows what is in a store. It counts when it is collected.
type backlog struct {
	store   driver.Counter
	trouble func() error

	transactions, parked, due, oldest, up *prometheus.Desc
}

func newBacklog(store driver.Counter, trouble func() error) *backlog {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+name, help, labels, nil)
	}
	return &backlog{
		store:        store,
		trouble:      trouble,
		transactions: desc("transactions", "Transactions in the store.", "status"),
		parked:       desc("parked", "Transactions that wait for a person."),
		due:          desc("due", "Transactions that could be driven and are not."),
		oldest:       desc("oldest_age_seconds", "Age of the oldest transaction that is not final."),
		up:           desc("store_up", "Whether the store could be counted, and does what it is asked."),
	}
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.transactions, b.parked, b.due, b.oldest, b.up} {
		descs <- d
	}
}

// Collect implements prometheus.Collector. A store that does not answer must not
// take the other metrics with it.
func (b *backlog) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	counts, err := b.store.Count(ctx)
	if err != nil {
		gauge(b.up, 0)
		return
	}
	gauge(b.up, up(b.trouble()))
	for _, status := range driver.Statuses() {
		gauge(b.transactions, float64(counts.ByStatus[status]), string(status))
	}
	gauge(b.parked, float64(counts.Parked))
	gauge(b.due, float64(counts.Due))
	gauge(b.oldest, age(counts.Oldest))
}

// up is 0 for a store in trouble: it may be counted, and yet take no writes.
func up(trouble error) float64 {
	if trouble != nil {
		return 0
	}
	return 1
}

func age(created time.Time) float64 {
	if created.IsZero() {
		return 0
	}
	return max(0, time.Since(created).Seconds())
}
