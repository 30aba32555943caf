// expect: 7:8: error: unknown name 'SPEED_OF_SOUND'
// expect: does not see macros and enum constants of the program: pass the value as a parameter
// expect: 8:9: error: unknown function 'SQUARE'
// expect: does not see macros and enum constants of the program: pass the value as a parameter
void f(float *v, float speed)
{
  *v = SPEED_OF_SOUND;
  *v += SQUARE(speed);
}
