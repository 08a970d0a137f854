package openloop

import (
	"encoding/binary"
	"os"
	"sync"
	"time"

	"adshard/bench/measure"
)

// probeGap is the time between two probes of this process' own lateness.
const probeGap = time.Millisecond

// probe measures how late this process reads what has arrived: the time from a write to a
// pipe until the goroutine that waits for it has read it. An answer that has arrived waits
// equally long before it is counted, which is not the server's fault.
type probe struct {
	read, write *os.File
	took        *measure.Latencies
	start       time.Time
	quit        chan struct{}
	done        sync.WaitGroup
}

func startProbe() (*probe, error) {
	p := &probe{took: measure.NewLatencies(), start: time.Now(), quit: make(chan struct{})}
	var err error
	if p.read, p.write, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.done.Go(p.send)
	p.done.Go(p.receive)
	return p, nil
}

// stop ends the probe and returns what it has measured.
func (p *probe) stop() *measure.Latencies {
	close(p.quit)
	p.done.Wait()
	_ = p.read.Close()
	return p.took
}

// send writes the time into the pipe at intervals.
func (p *probe) send() {
	defer p.write.Close()
	var stamp [8]byte
	for {
		select {
		case <-p.quit:
			return
		default:
		}
		sleepUntil(time.Now().Add(probeGap))
		binary.LittleEndian.PutUint64(stamp[:], uint64(time.Since(p.start)))
		if _, err := p.write.Write(stamp[:]); err != nil {
			return
		}
	}
}

func (p *probe) receive() {
	var stamp [8]byte // writes as short as this are atomic
	for {
		if _, err := p.read.Read(stamp[:]); err != nil {
			return
		}
		p.took.Add(time.Since(p.start) - time.Duration(binary.LittleEndian.Uint64(stamp[:])))
	}
}
