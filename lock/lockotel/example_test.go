package lockotel_test

import (
	"context"
	"fmt"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/lockotel"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func ExampleNew() {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader()
	observer, err := lockotel.New(&lockotel.Options{
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	locks, err := memlock.New(nil, &lock.Options{Observer: observer})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)

	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(ctx)

	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &metrics); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range metrics.ScopeMetrics[0].Metrics {
		fmt.Println(m.Name)
	}
	// Output:
	// bedrock.lock.wait
	// bedrock.lock.acquired
}
