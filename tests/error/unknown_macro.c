// expect: 7:8: error: unknown name 'SPEED_OF_SOUND'
// expect: kernels see a constant of the program after AMBIT_DEFINE(a, NAME); a macro with arguments becomes a static function
// expect: 8:9: error: unknown function 'SQUARE'
// expect: kernels see a constant of the program after AMBIT_DEFINE(a, NAME); a macro with arguments becomes a static function
void f(float *v, float speed)
{
  *v = SPEED_OF_SOUND;
  *v += SQUARE(speed);
}
