/* One step of the Legendre fit by hand: what a compiled step is held against. */

void step(const float *x, const float *y, float *p, float rate, long n, float *loss) {
    const float a = p[0], b = p[1], c = p[2], d = p[3];
    float ga = 0, gb = 0, gc = 0, gd = 0, total = 0;
#pragma omp simd reduction(+ : ga, gb, gc, gd, total)
    for (long i = 0; i < n; i++) {
        float u = c + d * x[i], u2 = u * u;
        float p3 = 0.5f * (5 * u2 - 3) * u;
        float r = a + b * p3 - y[i];
        float g = 2 * r, gu = g * b * 1.5f * (5 * u2 - 1);
        total += r * r;
        ga += g;
        gb += g * p3;
        gc += gu;
        gd += gu * x[i];
    }
    p[0] = a - rate * ga;
    p[1] = b - rate * gb;
    p[2] = c - rate * gc;
    p[3] = d - rate * gd;
    *loss = total;
}
