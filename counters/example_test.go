package counters_test

import (
	"context"
	"fmt"

	"adshard/counters"
	"adshard/counters/store/memory"
)

// This is a counter of clicks in four shards. With package sqlite or postgres instead of memory, several
// processes can share it.
func ExampleNew() {
	ctx := context.Background()
	clicks, err := counters.New(memory.New(), counters.Sum[int64](), counters.Static(4), counters.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 10 {
		if err := clicks.Update(ctx, "banner-7", func(n int64) int64 { return n + 1 }); err != nil {
			fmt.Println(err)
		}
	}
	n, err := clicks.Value(ctx, "banner-7")
	fmt.Println(n, err)
	// Output: 10 <nil>
}
