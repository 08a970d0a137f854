package measure

// Linear fits three unknowns by linear least squares. It holds the normal
// equations.
type Linear [3][4]float64

// Add adds an observation: y is the sum of the unknowns, each multiplied by its x.
func (s *Linear) Add(x [3]float64, y float64) {
	for i := range x {
		for j := range x {
			s[i][j] += x[i] * x[j]
		}
		s[i][3] += x[i] * y
	}
}

// Solve returns the unknowns; ok is false if the observations do not determine
// them.
func (s *Linear) Solve() (x [3]float64, ok bool) {
	m := *s
	for i := range m {
		if m[i][i] < 1e-9*s[i][i] || m[i][i] <= 0 {
			return x, false
		}
		for j := i + 1; j < 3; j++ {
			f := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		x[i] = m[i][3]
		for k := i + 1; k < 3; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x, true
}
