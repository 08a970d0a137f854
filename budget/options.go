package budget

import (
	"time"

	"adshard/fault"
)

// Options are the constants of a Pacer.
type Options struct {
	// Horizon is within which time a spend off its plan is to be back on it. With a short one
	// the share follows the noise of single clicks, with a long one it is late when the traffic
	// changes. It must be several times what passes between a step and the spend that it
	// causes, or the share swings.
	Horizon time.Duration
	// Memory is the half-life of what is remembered of the demand. Traffic changes over hours,
	// clicks come in lumps of minutes: between the two.
	Memory time.Duration
	// Start is the share while nothing is known of the demand; it doubles with each step as
	// long as nothing is spent. Until a spend is known, too high a share costs money that is not
	// there, too low a one some minutes.
	Start float64
	// Least is the smallest share: with none at all nothing would be learned of the demand.
	Least float64
	// Grain is by which part of itself a share must change to be worth a change of the
	// database and a message to every slave.
	Grain float64
}

// DefaultOptions returns what suits spends that are known within a minute or two.
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
