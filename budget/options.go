package budget

import (
	"time"

	"adshard/fault"
)

// Options are the constants of a Pacer.
type Options struct {
	// Horizon is the time within which a spend that is off its plan should return to it. If it is
	// short, the share follows the noise of single clicks; if it is long, the share lags behind
	// changes of traffic. It must be several times the delay between a step and the spend that it
	// causes, or the share swings.
	Horizon time.Duration
	// Memory is the half-life of the remembered demand. Traffic changes over hours, and clicks come
	// in bursts of minutes; the half-life should lie between the two.
	Memory time.Duration
	// Start is the share while the demand is unknown. It doubles with each step as long as nothing
	// is spent. Before any spend is known, too high a share costs money that is not there, and too
	// low a share costs only some minutes.
	Start float64
	// Least is the smallest share. With a share of zero nothing would be learned about the demand.
	Least float64
	// Grain is the smallest relative change of a share that is worth a change of the database and a
	// message to every slave.
	Grain float64
}

// DefaultOptions returns the options for spends that become known within a minute or two.
func DefaultOptions() Options {
	return Options{Horizon: 20 * time.Minute, Memory: 20 * time.Minute, Start: 0.1, Least: 0.0001, Grain: 0.05}
}

// Validate returns the first option that is out of range, as fault.Invalid.
func (o Options) Validate() error {
	for _, c := range []struct {
		ok         bool
		name, want string
	}{
		{o.Horizon >= time.Minute && o.Horizon <= 12*time.Hour, "horizon", "1m to 12h"},
		{o.Memory >= time.Minute && o.Memory <= 12*time.Hour, "memory", "1m to 12h"},
		{o.Start > 0 && o.Start <= 1, "start", "above 0, at most 1"},
		{o.Least >= 1.0/Whole && o.Least <= 1, "least", "0.000001 to 1"},
		{o.Grain >= 0 && o.Grain < 1, "grain", "0 to below 1"},
	} {
		if !c.ok {
			return fault.Field("budget", c.name, "it must be %s", c.want)
		}
	}
	return nil
}
