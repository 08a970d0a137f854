package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/bench/cluster"
	"adshard/bench/openloop"
	"adshard/bench/workload"
	"adshard/internal/outfile"
)

// check rejects invalid flags before anything is made.
func (f *balanceFlags) check(c *cobra.Command, args []string) error {
	if f.workloads == nil && f.queries == "" {
		f.workloads = []string{"real"}
		if f.study {
			f.workloads = []string{"real", "zipf:0.8", "zipf:1.2", "advertiser", "hostile", "single", "production"}
		}
	}
	if f.order == "" {
		f.order = f.usualOrder(c.Flags().Changed("strategies")).String()
	}
	order, ok := balance.ParseOrder(f.order)
	if f.strategies = every(f.strategies, order); !c.Flags().Changed("strategies") {
		f.strategies = slices.DeleteFunc(f.strategies, func(s string) bool { return strategy.CheckOrder(s, order) != nil })
	}
	others := -1
	c.Flags().Visit(func(*pflag.Flag) { others++ })
	if err := f.checkStrategies(order, ok); err != nil {
		return err
	}
	for _, w := range f.workloads {
		if err := workload.Check(w); err != nil {
			return fmt.Errorf("--workload: %w", err)
		}
	}
	f.ownRate, f.ownEnd = !c.Flags().Changed("rate"), !c.Flags().Changed("duration")
	switch {
	case !ok:
		return fmt.Errorf("--order %s: %s", f.order, strings.Join(balance.Orders(), ", "))
	case f.iteration && !f.study:
		return errors.New("--iteration is a part of --study: add it")
	case f.simulate && f.study:
		return errors.New("--simulate and --study exclude each other: choose one")
	case f.headlines && others > 0:
		return errors.New("--headlines prints a table of its own, always the same: leave out all other options")
	case len(f.strategies) == 0:
		return errors.New("--strategies: name at least one")
	case f.queries != "" && len(f.workloads) > 0:
		return errors.New("--workload and --queries exclude each other: choose one")
	case !f.study && len(f.workloads) > 1:
		return errors.New("--workload: one; several go with --study only")
	}
	if err := f.checkNumbers(); err != nil {
		return err
	}
	if !f.study && !f.simulate && !f.headlines && f.from == "" {
		if err := f.cluster.Check(); err != nil {
			return err
		}
	}
	if err := outfile.Check(outfile.Inputs(append(f.inputs(), f.from)...), jsonOf("balance", f.json), pageTo(f.html)); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

// usualOrder returns the order of a cluster that goes with the compared strategies. If named is
// false, the strategies were not chosen: the order decides which ones are compared.
func (f *balanceFlags) usualOrder(named bool) balance.Order {
	chosen := f.initial()
	if named {
		chosen = append(chosen, f.strategies...)
	}
	for _, s := range chosen {
		if s == "all" || strategy.CheckOrder(s, balance.ByHash) != nil {
			return balance.ByOwner
		}
	}
	return balance.ByHash
}

// checkStrategies rejects a strategy that is unknown, that does not go with the order (if
// known), or that cannot run on a real cluster.
func (f *balanceFlags) checkStrategies(order balance.Order, known bool) error {
	for _, s := range append(f.strategies, f.initial()...) {
		if _, err := f.options.Own.Named(s); err != nil {
			return err
		}
		if err := strategy.CheckOrder(s, order); known && err != nil {
			return err
		}
		if f.options.Own.Has(s) && !f.simulate && !f.study {
			return fmt.Errorf("--strategies %s: the balancer of a real cluster does not have it: add --simulate or --study", s)
		}
	}
	return nil
}

// checkNumbers rejects numbers out of bounds.
func (f *balanceFlags) checkNumbers() error {
	switch o := &f.options; {
	case o.Slaves < 1 || o.Slaves > 1000 || !f.simulate && o.Slaves > cluster.MaxSlaves:
		return fmt.Errorf("--slaves %d: 1 to %d, simulated up to 1000", o.Slaves, cluster.MaxSlaves)
	case o.Rate <= 0 || o.Rate > 100_000:
		return fmt.Errorf("--rate %g: more than 0, up to 100,000", o.Rate)
	case o.Duration < time.Second || o.Duration > 24*time.Hour:
		return fmt.Errorf("--duration %v: 1s to 24h", o.Duration)
	case f.keywords < 1:
		return fmt.Errorf("--keywords %d: 1 or more", f.keywords)
	}
	for _, n := range f.studySlaves {
		if n < 1 || n > 1000 {
			return fmt.Errorf("--study-slaves %d: 1 to 1000", n)
		}
	}
	return nil
}

// every returns the names of strategies, with "all" replaced by the strategies that an order
// has.
func every(names []string, order balance.Order) (out []string) {
	for _, name := range names {
		if name != "all" {
			out = append(out, name)
			continue
		}
		for _, n := range strategy.Names() {
			if strategy.CheckOrder(n, order) == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// prepare reads the file of queries, if there is one, and sets the rate and the duration of the
// queries.
func (f *balanceFlags) prepare() (err error) {
	if f.queries != "" {
		if f.log, err = f.workload(""); err != nil {
			return err
		}
	}
	if f.study {
		return nil
	}
	o := &f.options
	if f.log != nil && f.log.Recorded() > 0 {
		if f.ownRate {
			o.Rate = 0
		}
		if f.ownEnd {
			o.Duration = max(time.Second, f.log.Lasts(o.Rate))
		}
	}
	return f.bounded()
}

// bounded returns an error if a run would be too long or too fast.
func (f *balanceFlags) bounded() error {
	o, most := &f.options, 24*time.Hour
	if !f.simulate {
		most = openloop.MaxDuration
	}
	if o.Duration > most && f.ownEnd {
		return fmt.Errorf("the log of --queries lasts %v, a run at most %v: --duration asks its beginning, --rate draws its times together", o.Duration.Round(time.Second), most)
	}
	if o.Duration > most {
		return fmt.Errorf("--duration %v: at most %v", o.Duration, most)
	}
	rate := o.Rate
	if f.log != nil {
		rate = f.log.MeanRate(o.Rate, o.Duration)
	}
	switch {
	case rate == 0:
		return fmt.Errorf("the log of --queries has no query within --duration %v", o.Duration)
	case f.simulate:
		return nil
	case rate > openloop.MaxRate:
		return fmt.Errorf("the log of --queries asks %.0f a second, a run at most %.0f: --rate stretches its times", rate, openloop.MaxRate)
	case rate*o.Duration.Seconds() > openloop.MaxRequests:
		return fmt.Errorf("%.0f queries, a run asks at most %d: choose a lower --rate or a shorter --duration", rate*o.Duration.Seconds(), openloop.MaxRequests)
	}
	return nil
}

// asked returns the workload of a name, or the file of queries for "".
func (f *balanceFlags) asked(name string) (*workload.Workload, error) {
	if name == "" {
		return f.log, nil
	}
	return f.workload(name)
}
