package bandwidthlab

import (
	"errors"
	"math"
)

// A Line is a straight line through measured points, by least squares.
type Line struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
	// Correlation is Pearson's, with a sign; RSquared is the share of the variance that the line
	// explains.
	Correlation float64 `json:"correlation"`
	RSquared    float64 `json:"r_squared"`
	// Errors are the standard errors of the two; zero where there are only two points, through
	// which any line goes.
	InterceptError float64 `json:"intercept_error"`
	SlopeError     float64 `json:"slope_error"`
	// Residuals are what was measured less what the line says, by point.
	Residuals []float64 `json:"residuals"`
}

// At is what the line says.
func (l *Line) At(x float64) float64 { return l.Intercept + l.Slope*x }

// ErrNoLine says that there are no two different places through which a line could go.
var ErrNoLine = errors.New(
	"a line needs points at two different numbers of clients at least, and better five")

// FitLine finds the line with the least squares of residuals.
func FitLine(x, y []float64) (Line, error) {
	n := float64(len(x))
	if len(x) != len(y) || len(x) < 2 {
		return Line{}, ErrNoLine
	}
	var mx, my float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	var sxx, sxy, syy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		sxx += dx * dx
		sxy += dx * dy
		syy += dy * dy
	}
	if sxx == 0 {
		return Line{}, ErrNoLine
	}
	l := Line{Slope: sxy / sxx}
	l.Intercept = my - l.Slope*mx
	var rest float64
	for i := range x {
		r := y[i] - l.At(x[i])
		l.Residuals = append(l.Residuals, r)
		rest += r * r
	}
	l.RSquared = 1
	if syy > 0 {
		l.RSquared = 1 - rest/syy
		l.Correlation = sxy / math.Sqrt(sxx*syy)
	}
	if n > 2 {
		s := math.Sqrt(rest / (n - 2))
		l.SlopeError = s / math.Sqrt(sxx)
		l.InterceptError = s * math.Sqrt(1/n+mx*mx/sxx)
	}
	return l, nil
}
