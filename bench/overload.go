package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/measure"
	"adshard/bench/openloop"
	"adshard/bench/workload"
)

// overloadFlags are the flags of `adbench overload`.
type overloadFlags struct {
	queryFlags
	workload, params string
	deadline         time.Duration
	times            float64
	peak             float64
	before, after    time.Duration
	openloop.Config
	output
}

// OverloadCommand returns the subcommand overload, which puts more load on a running
// cluster than it can handle.
func OverloadCommand() *cobra.Command {
	var f overloadFlags
	c := &cobra.Command{
		Use:   "overload --addr URL {--queries FILE | --workload NAME}",
		Short: "Ask a running cluster for several times what it can do",
		Long: `Asks a running cluster for several times what it can do, and measures how much of
its peak is left.

First the peak is measured: the answers in time, complete and within the
deadline, while 4, 8 and 16 requests are under way. Then requests arrive at random
times, however fast the cluster answers: half of the peak for a while (--before), --times the peak for
--duration, and half of it again (--after). Goodput is the answers in time a
second during the overload; refusals (503) are counted and timed apart from
answers; recovery is the time after the overload until in each second
99 % of the requests are answered in time.

Choose queries that are long or count exactly (--params), so that the peak is some
hundreds a second and the generator is not what is measured.`,
		Example: `  adbench overload --queries queries.txt --duration 60s
  adbench overload --workload stress --params 'counts=exact&variants=synonym' --times 5`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Addr, "addr", "http://127.0.0.1:8080", "where the cluster listens: a URL, or unix:PATH")
	flags.BoolVar(&f.AllowRemote, "allow-remote", false, "the cluster may be on other machines; ask its operator first")
	f.queryFlags.flags(flags)
	flags.StringVar(&f.workload, "workload", "", "named workload (adbench load --help lists them)")
	flags.StringVar(&f.params, "params", "counts=exact", "further parameters of each request, as in a URL")
	flags.DurationVar(&f.deadline, "deadline", 500*time.Millisecond, "the time that each request gives the cluster")
	flags.Float64Var(&f.times, "times", 5, "how many times the peak is offered")
	flags.Float64Var(&f.peak, "peak", 0, "the peak in answers a second; 0: it is measured")
	flags.DurationVar(&f.before, "before", 5*time.Second, "half of the peak for this time before the overload")
	flags.DurationVar(&f.Duration, "duration", time.Minute, "how long the overload lasts")
	flags.DurationVar(&f.after, "after", 10*time.Second, "half of the peak for this time after it")
	flags.IntVar(&f.Connections, "connections", 1024, "most requests at a time")
	flags.DurationVar(&f.Timeout, "timeout", 5*time.Second, "give up on an answer after this time")
	flags.IntSliceVar(&f.Processes, "pids", nil, "the cluster's processes, to report their processor time")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is read.
func (f *overloadFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.times <= 1 || f.times > 100:
		return fmt.Errorf("--times %g: more than 1, up to 100", f.times)
	case f.deadline < time.Millisecond:
		return fmt.Errorf("--deadline %v: at least 1ms", f.deadline)
	case f.peak < 0 || f.before < 0 || f.after < 2*time.Second || f.Duration < 2*time.Second:
		return errors.New("--peak and --before are not negative, --duration and --after at least 2s")
	}
	if f.workload != "" {
		if err := workload.Check(f.workload); err != nil {
			return fmt.Errorf("--workload: %w", err)
		}
	}
	if err := f.output.check(f.queries); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *overloadFlags) run(ctx context.Context, out io.Writer) error {
	w, err := f.queryFlags.workload(f.workload)
	if err != nil {
		return err
	}
	more, err := url.ParseQuery(f.params)
	if err != nil {
		return fmt.Errorf("--params: %w", err)
	}
	more.Set("timeout_ms", strconv.FormatInt(f.deadline.Milliseconds(), 10))
	for _, q := range w.Queries {
		if target, ok := openloop.Search(q, more); ok {
			f.Targets = append(f.Targets, target)
		}
	}
	if len(f.Targets) == 0 {
		return errors.New("none of the queries can be asked")
	}
	f.InTime, f.Seed = f.deadline, f.seed
	report := newReport("overload")
	if f.peak == 0 {
		if f.peak, err = f.measurePeak(ctx, report); err != nil {
			return err
		}
	}
	o, err := f.overload(ctx)
	if err != nil {
		return err
	}
	f.figures(report, o)
	return f.write(out, report)
}

// measurePeak returns the most answers in time per second, over several numbers of
// requests in progress.
func (f *overloadFlags) measurePeak(ctx context.Context, report *measure.Report) (peak float64, err error) {
	for _, n := range []int{4, 8, 16} {
		c := f.Config
		c.Closed, c.Warmup, c.Duration = n, 2*time.Second, 5*time.Second
		o, err := openloop.Run(ctx, c)
		if err != nil {
			return 0, err
		}
		rate := float64(o.InTime) / o.Took.Seconds()
		report.Note("%d requests under way: %.0f answers in time a second", n, rate)
		peak = max(peak, rate)
	}
	if peak == 0 {
		return 0, errors.New("there was no answer in time; is the cluster up? `adshard up` starts one")
	}
	return peak, nil
}

// overload sends half of the peak rate, then the overload, then half of the peak rate
// again.
func (f *overloadFlags) overload(ctx context.Context) (*openloop.Outcome, error) {
	c := f.Config
	c.Duration = f.before + f.Duration + f.after
	c.Rate = f.peak * f.times // bounds the queue; the schedule decides the times
	c.Schedule = f.schedule()
	return openloop.Run(ctx, c)
}

// schedule returns the times of requests, which are random.
func (f *overloadFlags) schedule() iter.Seq2[time.Duration, int] {
	gaps := rand.New(rand.NewPCG(f.seed, 1))
	return func(yield func(time.Duration, int) bool) {
		at := time.Duration(0)
		for i := 0; at < f.before+f.Duration+f.after; i++ {
			rate := f.peak / 2
			if at >= f.before && at < f.before+f.Duration {
				rate = f.peak * f.times
			}
			at += time.Duration(gaps.ExpFloat64() / rate * float64(time.Second))
			if !yield(at, i%len(f.Targets)) {
				return
			}
		}
	}
}

// figures adds the results of the overload to the report.
func (f *overloadFlags) figures(report *measure.Report, o *openloop.Outcome) {
	first, last := int((f.before+second-1)/second), int((f.before+f.Duration)/second)
	intervals := o.Intervals[min(first, len(o.Intervals)):min(last, len(o.Intervals))]
	var inTime, refused, due int
	least := 0
	for i, v := range intervals {
		inTime += v.InTime
		refused += v.Overloaded
		due += v.Answers + v.Failed
		if i == 0 || v.InTime < least {
			least = v.InTime
		}
	}
	seconds := max(1, float64(len(intervals)))
	report.Add("peak", "/s", f.peak)
	report.Add("offered", "/s", float64(due)/seconds)
	report.Add("goodput", "/s", float64(inTime)/seconds)
	report.Add("goodput, of the peak", "share", float64(inTime)/seconds/f.peak)
	report.Add("goodput, worst second", "/s", float64(least))
	report.Add("refused", "/s", float64(refused)/seconds)
	report.AddSpread("answer ", o.Latency.Spread())
	report.AddSpread("refusal ", o.Refusal.Spread())
	report.Add("recovery", "s", recovery(o.Intervals[min(last, len(o.Intervals)):]).Seconds())
	for _, n := range []struct {
		name string
		n    int
	}{{"complete", o.Complete}, {"incomplete", o.Incomplete}, {"overloaded (503)", o.Overloaded}, {"failed", o.Failed}, {"due and not sent", o.Unsent}} {
		report.Add(n.name, "requests", float64(n.n))
	}
	report.Add("sent late, p99", "µs", o.Lag.Spread().P99)
	report.Add("read late by the generator, p99", "µs", o.Late.Spread().P99)
	report.Add("processor used by the load generator", "cores", o.CPU.Seconds()/max(o.Took.Seconds(), 1e-9))
	if o.FirstError != nil {
		report.Note("first failure: %v", o.FirstError)
	}
}

const second = time.Second

// recovery returns the time from the end of an overload until all seconds are as they
// should be: until the end of the last one that is not.
func recovery(after []openloop.Interval) time.Duration {
	for i := len(after) - 1; i >= 0; i-- {
		v := after[i]
		if due := v.Answers + v.Failed; float64(v.InTime) < 0.99*float64(due) {
			return time.Duration(i+1) * second
		}
	}
	return 0
}
