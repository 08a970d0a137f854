package train

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/optimize"

	"adshard/auction"
	"adshard/fault"
)

// example is a cell with everything that is known about it.
type example struct {
	cell
	features    auction.Features
	impressions float64
	clicks      float64
	expected    float64 // clicks expected by quality only
	held        bool
	weights     []int32 // indexes of the weights that apply
}

// rounds bounds the search. It usually takes about fifty.
const rounds = 500

// fit returns the bias and the weights of greatest likelihood, in units of z, for the examples that are not held out. The prior
// weighs as much as strength clicks.
func fit(list []example, values int, strength float64) ([]float64, error) {
	clicks := 0.0
	for i := range list {
		if !list[i].held {
			clicks += list[i].clicks
		}
	}
	// At z = 0 an expected click says as much about z as a prior with precision ¼.
	l := &likelihood{list: list, each: 1 / clicks, prior: strength / 4 / clicks}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return l.at(x, nil) },
		Grad: func(grad, x []float64) { l.at(x, grad) },
	}
	settings := &optimize.Settings{MajorIterations: rounds, GradientThreshold: 1e-8}
	found, err := optimize.Minimize(problem, make([]float64, 1+values), settings, &optimize.LBFGS{})
	// A line search that finds nothing better is at an optimum, as precisely as numbers allow.
	if err != nil && !errors.Is(err, optimize.ErrLinesearcherFailure) {
		return nil, fault.Newf(fault.Internal, "train: fit", "no weights were found: %w", err)
	}
	return found.X, nil
}

// likelihood computes the negative logarithm of the likelihood, including that of the prior.
type likelihood struct {
	list        []example
	each, prior float64
}

// at returns the value for a bias and weights. It also sets the gradient, unless grad is nil.
func (l *likelihood) at(x, grad []float64) (value float64) {
	for i := range grad {
		grad[i] = 0
	}
	for i := range l.list {
		e := &l.list[i]
		if e.held {
			continue
		}
		z := e.z(x)
		s := sigmoid(z)
		value += l.each * (2*e.expected*s + e.clicks*softplus(-z))
		if grad != nil {
			slope := l.each * (1 - s) * (2*e.expected*s - e.clicks)
			grad[0] += slope
			for _, w := range e.weights {
				grad[1+w] += slope
			}
		}
	}
	for i, w := range x[1:] {
		value += l.prior / 2 * w * w
		if grad != nil {
			grad[1+i] += l.prior * w
		}
	}
	return value
}

// z returns the sum of the bias and weights that apply to an example.
func (e *example) z(x []float64) float64 {
	z := x[0]
	for _, w := range e.weights {
		z += x[1+w]
	}
	return z
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus returns ln(1 + e^z).
func softplus(z float64) float64 { return math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
