package sizing

import "math"

// above has the shares of times above each quantile of Times.
var above = [...]float64{0.5, 0.1, 0.01, 0.001}

func (t *Times) quantiles() [len(above)]float64 { return [...]float64{t.P50, t.P90, t.P99, t.P999} }

// times is the inverse of the method quantiles.
func times(mean float64, q [len(above)]float64) Times {
	return Times{Mean: mean, P50: q[0], P90: q[1], P99: q[2], P999: q[3]}
}

// exceeded returns the time that a share of the times exceeds, by interpolation of the logarithms. For the shorter
// half it returns the median. Beyond the last quantile it extrapolates with the last slope.
func (t *Times) exceeded(share float64) float64 {
	q := t.quantiles()
	if share >= above[0] {
		return q[0]
	}
	i := 1
	for i+1 < len(above) && share < above[i] {
		i++
	}
	return between(math.Log(share), math.Log(above[i-1]), math.Log(above[i]), q[i-1], q[i])
}

// between interpolates y, which is positive, at x on a logarithmic scale, and extrapolates beyond x0 and x1.
func between(x, x0, x1, y0, y1 float64) float64 {
	return y0 * math.Pow(y1/y0, (x-x0)/(x1-x0))
}

// each combines two distributions quantile by quantile.
func each(a, b *Times, f func(a, b float64) float64) Times {
	p, q := a.quantiles(), b.quantiles()
	for i := range p {
		p[i] = f(p[i], q[i])
		if i > 0 {
			p[i] = max(p[i], p[i-1])
		}
	}
	return times(f(a.Mean, b.Mean), p)
}

// search returns the times of searches on a slave with that many keywords and that many bytes of memory for each.
// Between two measured sizes, and beyond the last two, the times are interpolated by logarithms. Below the first size
// they are those of the first size.
func (f *Figures) search(keywords, bytes float64) Times {
	t := f.allInMemory(keywords)
	slower := f.withBytes(bytes)
	full := f.Memory[len(f.Memory)-1].Times
	factor := each(&slower, &full, func(s, full float64) float64 { return max(1, s/full) })
	return each(&t, &factor, func(t, factor float64) float64 { return t * factor })
}

// Search returns the times of searches on a slave with that many keywords, all of them in memory.
func (f *Figures) Search(keywords float64) Times { return f.search(keywords, math.Inf(1)) }

func (f *Figures) allInMemory(keywords float64) Times {
	n := len(f.Searches)
	if n == 1 || keywords <= f.Searches[0].Keywords {
		return f.Searches[0].Times
	}
	i := 1
	for i+1 < n && keywords > f.Searches[i].Keywords {
		i++
	}
	a, b := &f.Searches[i-1], &f.Searches[i]
	x, x0, x1 := math.Log(keywords), math.Log(a.Keywords), math.Log(b.Keywords)
	// More keywords never make searches faster, whatever a measurement says.
	return each(&a.Times, &b.Times, func(y0, y1 float64) float64 { return between(x, x0, x1, y0, max(y0, y1)) })
}

// withBytes returns the times with that many bytes of memory for each keyword, which must be at least as many as in
// the first entry of Memory.
func (f *Figures) withBytes(bytes float64) Times {
	n := len(f.Memory)
	if bytes >= f.Memory[n-1].Bytes || n == 1 {
		return f.Memory[n-1].Times
	}
	i := 1
	for bytes > f.Memory[i].Bytes {
		i++
	}
	a, b := &f.Memory[i-1], &f.Memory[i]
	return each(&a.Times, &b.Times, func(y0, y1 float64) float64 {
		return between(math.Log(bytes), math.Log(a.Bytes), math.Log(b.Bytes), y0, y1)
	})
}
