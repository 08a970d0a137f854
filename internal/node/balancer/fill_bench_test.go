package balancer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// BenchmarkFill fills three slaves that discard everything, over gRPC. It shows what the balancer
// can do without disks, and reports keywords per second.
func BenchmarkFill(b *testing.B) {
	const slaves, keywords = 3, 400 * 25 * 10
	r := newRig(b, slaves)
	r.cfg.BucketBytes = DefaultConfig().BucketBytes
	r.Write(400, 25, 10, 1_000_000)
	for b.Loop() {
		r.Must(r.DB.SaveControl(b.Context(), r.cfg.StateKey+"/model", nil))
		r.start()
		var pulls sync.WaitGroup
		for i := range slaves {
			pulls.Go(func() { r.Must(swallow(b.Context(), r.addr, fmt.Sprint(i))) })
		}
		pulls.Wait()
		r.stop()
	}
	b.ReportMetric(float64(b.N)*keywords/b.Elapsed().Seconds(), "keywords/s")
}

// swallow pulls data until a slave would be filled.
func swallow(ctx context.Context, addr, name string) error {
	conn, err := wire.Dial(addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, d := pb.NewBalancerClient(conn), pb.NewDistributorClient(conn)
	at, epoch, database := &pb.Position{}, uint64(0), ""
	for {
		request := &pb.RegisterRequest{Name: name, Address: name, Position: at}
		_, err := c.Register(ctx, request)
		if err == nil {
			var r *pb.EnlistResponse
			if r, err = d.Enlist(ctx, request); err == nil {
				epoch, database = r.Epoch, r.Database
				break
			}
		}
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
	}
	for {
		r, err := d.Pull(ctx, &pb.PullRequest{Name: name, Epoch: epoch, Position: at, WaitMs: 1000, Database: database})
		if err != nil {
			return err
		}
		if r.Data == nil {
			continue
		}
		at = r.Data.To
		if at.Offset == 0 {
			return nil
		}
	}
}
